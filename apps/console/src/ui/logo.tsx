/** The shell: a spiral that opens. */
export function Logo({ className }: { className?: string }) {
  return (
    <svg viewBox="0 0 24 24" className={className} fill="none" aria-hidden>
      <path
        d="M12 12.2c0-1 .9-1.7 1.8-1.5 1.5.3 2.2 2 1.7 3.4-.7 2-3 2.900-4.900 2.100-2.600-1-3.600-4.100-2.600-6.600C9.200 6.500 12.700 5.200 15.800 6.400c3.700 1.500 5.100 5.800 3.700 9.400-1.600 4.200-6.500 6-10.700 4.400C5 18.700 2.900 15.200 3 11.300"
        stroke="var(--shell)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
    </svg>
  )
}
