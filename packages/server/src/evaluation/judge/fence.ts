/** Marks texts as data. */
export interface Fence {
  open: string;
  close: string;
  around(name: string, text: string): string;
}

/** A fence that no text can close, because nobody could know its mark when the text was written. */
export function createFence(): Fence {
  const mark = crypto.randomUUID();
  const open = `<<<DATA ${mark}`;
  const close = `<<<END ${mark}>>>`;
  return { open, close, around: (name, text) => `${open} ${name}>>>\n${text}\n${close}` };
}
