import { afterAll } from "bun:test";
import { startUpstream, type TestUpstream } from "./upstream.ts";

/** Starts an upstream for the tests of this block and stops it after them. */
export function useUpstream(): TestUpstream {
  const upstream = startUpstream();
  afterAll(() => upstream.stop());
  return upstream;
}
