// Pages bundle this file too, so that it imports nothing.
/**
 * The values used where the caller sets none. They are stated in the schemas and filled in by the server, which must
 * know what the caller set: a `top_k` that nobody set is not sent at all.
 */
export const samplingDefaults = { max_tokens: 512, temperature: 0.2, top_p: 1, top_k: 0 } as const;
