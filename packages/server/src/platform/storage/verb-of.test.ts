import { expect, test } from "bun:test";
import { verbOf } from "./columns.ts";

test("an action's verb is its first word, or the tool that it calls", () => {
  const cases: [action: string, verb: string][] = [
    ["Open the door", "open"],
    ["  look", "look"],
    ["", ""],
    ['{"name": "Search", "arguments": {}}', "search"],
    ['{"tool": "act", "input": {"action": "open"}}', "act"],
    ['[{"function": {"name": "click"}}, {"name": "type"}]', "click"],
    ['{"type": "function", "function": "click"}', "click"],
    ['{"x": 1}', '{"x":'],
    ["[door] open", "[door]"],
  ];
  for (const [action, verb] of cases) expect(verbOf(action)).toBe(verb);
});
