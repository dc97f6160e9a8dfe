import { type Buffer, isUtf8 } from "node:buffer";
import { type Mutation, type Plan, usualHost } from "../generate/plan.ts";
import type { WrittenRequest } from "../send/request.ts";

/** A bug of the server, however many requests show it. */
export interface Finding {
  /** Equal for equal violations. */
  id: string;
  detail: string | undefined;
  /** Number of requests that showed it. */
  count: number;
  /** The shortest of them. */
  example: Example | undefined;
}

export interface Example {
  index: number;
  base: Plan;
  mutations: Mutation[];
  /** Whether parts other than mutations were removed; then the mutations cannot be applied again. */
  isCut: boolean;
  plan: Plan;
  written: WrittenRequest;
  /** The start of the response. */
  response: string;
}

export interface Findings {
  add(id: string, detail: string | undefined, example: Example | undefined): void;
  all(): Finding[];
}

export function createFindings(): Findings {
  const byId = new Map<string, Finding>();
  return {
    add(id, detail, example) {
      const known = byId.get(id);
      if (known === undefined) {
        byId.set(id, { id, detail, count: 1, example });
        return;
      }
      known.count += 1;
      if (example !== undefined && sizeOf(example) < sizeOf(known.example)) known.example = example;
    },
    all: () => [...byId.values()],
  };
}

function sizeOf(example: Example | undefined): number {
  return example?.written.bytes.length ?? Number.POSITIVE_INFINITY;
}

const longestBody = 2_000;

/** Describes a finding and how to reproduce its request, without secrets. */
export function describeFinding(finding: Finding, seed: number): string {
  const { id, detail, count, example } = finding;
  const lines = [`✗ ${id} (${count} ${count === 1 ? "time" : "times"})`];
  if (detail !== undefined) lines.push(indented(detail));
  if (example !== undefined) lines.push(indented(describeExample(example, seed)));
  return lines.join("\n");
}

function describeExample({ index, plan, mutations, written, response }: Example, seed: number): string {
  const mutated = mutations.map(({ name }) => name).join(", ") || "none";
  return [
    `--seed ${seed} --only ${index}; mutations: ${mutated}`,
    `caller: ${plan.caller}`,
    `response: ${printable(response).slice(0, 400)}`,
    curlOf(written, plan),
  ].join("\n");
}

/** As a command for a POSIX shell, with the caller's key in `$KEY` and the server's address in `$URL`. */
function curlOf({ method, target, headers, body }: Example["written"], { host, version }: Plan): string {
  const usual = ["content-length", "x-request-id", ...(host === usualHost ? ["host"] : [])];
  const shown = headers
    .filter(([name]) => !usual.includes(name))
    .map(([name, value]) => `-H ${quoted(`${name}: ${isSecret(name) ? "$KEY" : value}`)}`);
  const data = body === undefined ? [] : [`--data-binary ${dataOf(body)}`];
  if (host === undefined) shown.push("-H Host:");
  if (version === "1.0") shown.push("--http1.0");
  return ["curl -i --path-as-is", `-X ${method}`, ...shown, ...data, `"$URL"${quoted(target)}`].join(" ");
}

function isSecret(name: string): boolean {
  return ["x-api-key", "authorization", "cookie", "x-csrf-token"].includes(name);
}

function dataOf(body: Buffer): string {
  if (body.length > longestBody) {
    return `BODY (${body.length} bytes, beginning with ${quotedBytes(body.subarray(0, longestBody))})`;
  }
  return quotedBytes(body);
}

function quotedBytes(bytes: Buffer): string {
  return isUtf8(bytes) ? quoted(bytes.toString()) : `"$(printf '${[...bytes].map(octal).join("")}')"`;
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, "0")}`;
}

function quoted(text: string): string {
  const isPlain = printable(text) === text;
  if (isPlain && text.includes("$KEY")) return `"${text}"`;
  if (isPlain) return `'${text.replaceAll("'", "'\\''")}'`;
  return `$'${printable(text.replaceAll("\\", "\\\\").replaceAll("'", "\\'"))}'`;
}

/** Escapes, as bash reads them, all characters that a terminal would act on. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => {
    const code = (one.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\U${code.padStart(8, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

function indented(text: string): string {
  return text.replace(/^/gm, "  ");
}
