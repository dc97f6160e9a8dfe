import { expect, test } from "bun:test";
import { type UnreachableReason, unreachableReason } from "./failures.ts";

test.each<[string, UnreachableReason]>([
  ["ECONNREFUSED", "refused"],
  ["ENOTFOUND", "name"],
  ["CERT_HAS_EXPIRED", "certificate"],
  ["CERT_NOT_YET_VALID", "certificate"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "certificate"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "certificate"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "certificate"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "certificate"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate"],
  ["EPROTO", "tls"],
  ["something new", "other"],
  ["", "other"],
])("a connection that failed with %p failed for the reason %p", (code, reason) => {
  expect(unreachableReason(code)).toBe(reason);
});
