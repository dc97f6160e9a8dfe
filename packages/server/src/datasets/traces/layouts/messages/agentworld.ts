import { maxConversationMessages } from "@presage/contract";
import { z } from "zod";
import { checkLine, LineError } from "../../../upload/lines.ts";
import { idOf, isObject, tagOf } from "../../content.ts";
import { eachDocument, type Layout } from "../../layout.ts";
import { idIn } from "../../messages.ts";

const fields = ["system_str", "prompt", "response", "turn_idx"];

const texts = z.union([z.string(), z.array(z.string())]);
const Line = z.looseObject({
  task: z.string().nullish(),
  system_str: z.string().nullish(),
  prompt: texts,
  response: texts,
  turn_idx: z
    .int()
    .min(1)
    .max(maxConversationMessages / 2),
});

const listOf = (found: z.infer<typeof texts>) => (typeof found === "string" ? [found] : found);

/** The lines of AgentWorldBench, each of which asks for one turn of the environment. */
export const agentworld: Layout = {
  format: "agentworld",
  version: 1,
  about: {
    title: "AgentWorldBench",
    recognised_by: "`system_str`, `prompt`, `response` and `turn_idx`",
    trajectory: "the lines of one `id`; without it, `line-N`",
    action: "`prompt` at `turn_idx`, with the turns before it and `system_str` as `messages`",
    answer: "`response` at `turn_idx`",
    context: "`system_str`",
    also: "`turn_idx` as the step; the tag `task` from `task`, of which what follows its last `/`",
    left_out: "the line's other turns, which other lines have",
    example: `{"task":"bench/terminal","id":7,"system_str":"You are a terminal.","prompt":["ls drawer","cat drawer/key.txt"],"response":["key.txt","4711"],"current_prompt":"cat drawer/key.txt","turn_idx":2,"total_turns":2}`,
  },
  recognises: ({ value }) =>
    isObject(value) && fields.every((name) => name in value) ? fields.join(", ") : undefined,
  open: eachDocument(function* ({ value, place }) {
    const line = checkLine(Line, value);
    const prompts = listOf(line.prompt);
    const responses = listOf(line.response);
    const at = line.turn_idx - 1;
    const prompt = prompts[at];
    const next_state = responses[at];
    if (prompt === undefined || next_state === undefined)
      throw new LineError(`There is no turn ${line.turn_idx}`, [
        prompt === undefined ? "prompt" : "response",
        at,
      ]);
    const task = tagOf(line.task?.replace(/^.*\//s, "") ?? "");
    const before = prompts.slice(0, at).flatMap((content, index) => [
      { role: "user" as const, content },
      { role: "assistant" as const, content: responses[index] ?? "" },
    ]);
    const system = line.system_str ? [{ role: "system" as const, content: line.system_str }] : [];
    const id = idOf(idIn(line, ["id"]) ?? "");
    const sample = {
      trajectory_id: id || `line-${place[1]}`,
      step: at,
      messages: [...system, ...before, { role: "user" as const, content: prompt }],
      next_state,
      tags: { source: "agentworld", ...(task === "" ? {} : { task }) },
    };
    // Another file's lines may have the same id, but not the same number.
    yield id === "" ? { conversation: [sample] } : { sample };
  }),
};
