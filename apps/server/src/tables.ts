/** Draws the original's start-up tables; scripts look for `| model | 1 | READY |` in the log. */
export function drawTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)))
  const rule = `+${widths.map((width) => '-'.repeat(width + 2)).join('+')}+`
  const line = (cells: readonly string[]) =>
    `|${widths.map((width, i) => ` ${(cells[i] ?? '').padEnd(width)} `).join('|')}|`
  return [rule, line(head), rule, ...rows.map(line), rule].join('\n')
}
