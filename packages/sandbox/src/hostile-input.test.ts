import { expect, test } from "bun:test";
import { simulateTurn } from "./simulate-turn.ts";
import { house } from "./test-world.ts";

const bytes = process.env.PRESAGE_TEST_ALL === undefined ? 100_000 : 1_000_000;
/** A limit on processor time, since other tests run at the same time. */
const maxMs = bytes / 200;
const processorMs = () => process.cpuUsage().user / 1000;

/** Unterminated fragments of everything that the sandbox looks for. */
const pieces = [
  "a ",
  "(",
  " (containing a ",
  ". On the a is: a ",
  "This room is called the ",
  "This room is called the a. In it, you see: a b ",
  "\n\ta b",
  "\n\n## TASK CONTEXT\n",
  "\n- a connects to: b",
  "A door to the ",
  "You move the a to the ",
  "The a is now open. ",
  "\n0:\tx in ",
  "In your inventory, you see:\n\ta b\n",
  '\nWhen the agent does "a": ',
  "put a in ",
  "[",
  "\n\nAction: ",
];

const shapes: ((text: string) => [string, string])[] = [
  (text) => [`## ENVIRONMENT STATE\n${text}`, "State: x\n\nAction: focus on b"],
  (text) => [
    `## ENVIRONMENT STATE\nThis room is called the a. In it, you see: ${text}`,
    "State: x\n\nAction: pour b in b",
  ],
  (text) => [`## TOOL SCHEMAS\n${text}`, 'State: x\n\nAction: [{"name":"a"}]'],
  (text) => [`## DOMAIN KNOWLEDGE\n${text}`, "State: x\n\nAction: sharpen x"],
  (text) => [`## ENVIRONMENT STATE\n${house}`, `State: ${text}\n\nAction: open a`],
  (text) => [`## ENVIRONMENT STATE\n${house}`, `State: x\n\nAction: ${text}`],
];

test.each(pieces)("a long text of %j gets a response in time, wherever it is", (piece) => {
  const text = piece.repeat(bytes / piece.length);
  for (const shape of shapes) {
    const startedAt = processorMs();
    expect(simulateTurn(...shape(text))).toBeString();
    expect(processorMs() - startedAt).toBeLessThan(maxMs);
  }
});

test("a long story in a large world gets a response in time", () => {
  const world = `This room is called the a. In it, you see:${"\n\ta b".repeat(bytes / 10)}`;
  const story = "You move the b to the b.\n".repeat(bytes / 50);
  const startedAt = processorMs();
  simulateTurn(`## ENVIRONMENT STATE\n${world}`, `State: ${story}\n\nAction: pour b in b`);
  expect(processorMs() - startedAt).toBeLessThan(maxMs);
});
