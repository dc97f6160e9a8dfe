import type { Json } from "./read-json.ts";
import { readPythonJson } from "./read-python-json.ts";
import { pythonSpace, pythonStripRange } from "./split-words.ts";

const thinkStart = "<think>";
const thinkEnd = "</think>";
const responseStart = "<tool_response>";
const responseEnd = "</tool_response>";
const tag = new RegExp(`</?(?:tool_response|think)(?:${pythonSpace.source})?>`, "g");

export type MdlmText = { text: string; json: Json | undefined };

/** A prediction or a reference as the scorer of `mdlm_world_modeling` compares it: without its tags, and read if it is JSON. */
export function readMdlmText(original: string): MdlmText {
  const untagged = stripMdlmTags(original);
  const text = untagged.slice(...pythonStripRange(untagged));
  return { text, json: readPythonJson(text) };
}

/**
 * Complete `<think>` blocks go wherever they are. Then the inside of the first complete `<tool_response>` block is what counts; without
 * one, single tags go and the text around them stays.
 */
function stripMdlmTags(original: string): string {
  const text = stripThinking(original);
  const start = text.indexOf(responseStart);
  const end = start < 0 ? -1 : text.indexOf(responseEnd, start);
  return end < 0 ? text.replaceAll(tag, "") : text.slice(start + responseStart.length, end);
}

function stripThinking(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(thinkStart, from);
    const end = start < 0 ? -1 : text.indexOf(thinkEnd, start);
    if (end < 0) return [...kept, text.slice(from)].join("");
    kept.push(text.slice(from, start));
    from = end + thinkEnd.length;
  }
}
