import type { UpstreamError } from "../../errors.ts";
import { tryParse } from "./json-in-text.ts";

const refusesFeature = new Set([400, 404, 405, 415, 422, 501]);
const saysUnsupported =
  /not (yet )?(supported|implemented|available)|unsupported|unavailable now|does not support/i;

/** Whether the server will not take the request as it is made, so that one made otherwise may pass. */
export function isRejection(error: UpstreamError): boolean {
  if (error.category !== "upstream" || error.status === undefined) return false;
  return refusesFeature.has(error.status) || saysUnsupported.test(statedMessage(error));
}

export function isContentFiltered(error: UpstreamError): boolean {
  return statedError(error).code === "content_filter";
}

/** The server's own words, without the parts of a body that may repeat the prompt. */
export function statedMessage(error: UpstreamError): string {
  const { message, param } = statedError(error);
  return [message, param].filter((text) => typeof text === "string").join(" ");
}

function statedError(error: UpstreamError): Record<string, unknown> {
  const body = toObject(tryParse(error.body ?? ""));
  const holder = typeof body.error === "object" ? toObject(body.error) : body;
  const message = [holder.message, body.error, holder.detail].find((text) => typeof text === "string");
  return { ...holder, message };
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
