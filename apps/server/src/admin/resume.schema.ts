import { z } from 'zod'

/** Subscriptions: what the client saw last before its connection broke; the socket adds it. */
export const resumeSchema = z.strictObject({ lastEventId: z.string().max(32).optional() }).optional()
