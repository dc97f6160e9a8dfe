import { isIP } from "node:net";
import type { PiiMatch } from "./pii-match.ts";

/** Runs of characters that addresses consist of. */
const run = /(?<![\w.:-])[0-9A-Fa-f:.]{3,}(?![\w-])/g;
const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;
/** The longest form of an IPv6 address, and a full stop after it. */
const maxRunLength = 46;
/** Shorter ones, such as `::` and `a::b`, are more often code. */
const minDigits = 3;

/** IPv4 addresses, with or without a port, and IPv6 addresses. */
export function findIps(text: string): PiiMatch[] {
  const matches: PiiMatch[] = [];
  for (const { 0: written, index } of text.matchAll(run)) {
    if (written.length > maxRunLength) continue;
    const sentence = written.replace(/[.:]{1,3}$/, "");
    const address = [written, sentence, withPort.exec(sentence)?.[1] ?? ""].find((form) => isIP(form) !== 0);
    if (address === undefined || address.replaceAll(/[.:]/g, "").length < minDigits) continue;
    matches.push({ kind: "ip", start: index, end: index + address.length });
  }
  return matches;
}
