/** What the server fills in where nobody sets it: shown, never sent. */
export const samplingDefaults = { max_tokens: 512, temperature: 0.2, top_p: 1 };
