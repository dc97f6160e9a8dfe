import isEmail from "validator/lib/isEmail.js";
import type { PiiMatch } from "./pii-match.ts";

/** RFC 5321 allows 64 characters before the `@` and 255 after it. */
const maxLocalLength = 64;
const maxDomainLength = 255;
const localEnd = /[^\s<>()[\]{},;:"'`|\\=/@]+$/u;
const domainStart = /^[\p{L}\p{N}.-]+/u;

/** Looks at a bounded stretch on both sides of each `@`, so that it takes linear time. */
export function findEmails(text: string): PiiMatch[] {
  const matches: PiiMatch[] = [];
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const local = localEnd.exec(text.slice(Math.max(0, at - maxLocalLength), at))?.[0] ?? "";
    const domain = domainStart
      .exec(text.slice(at + 1, at + 1 + maxDomainLength))?.[0]
      .replace(/[.-]{1,255}$/, "");
    if (domain === undefined || !isEmail(`${local}@${domain}`)) continue;
    matches.push({ kind: "email", start: at - local.length, end: at + 1 + domain.length });
  }
  return matches;
}
