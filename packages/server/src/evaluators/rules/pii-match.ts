export type PiiKind = "email" | "phone" | "card" | "iban" | "ip";

/** A stretch of the text, in UTF-16 units. */
export interface PiiMatch {
  kind: PiiKind;
  start: number;
  end: number;
}
