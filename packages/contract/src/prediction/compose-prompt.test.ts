import { expect, test } from "bun:test";
import { join } from "node:path";
import { composePrompt } from "./compose-prompt.ts";

const interaction = { state: "You are in the hall.", action: "go north" };

test("the prompt is exactly these strings", () => {
  const context = {
    steering_directives: "Answer briefly.",
    environment_state: "A hall.\nA kitchen.",
    domain_knowledge: "Doors open.",
    tool_schemas: "none",
    task_context: "Find the lamp.",
  };
  expect(composePrompt(context, interaction)).toEqual([
    {
      role: "system",
      content:
        "## ENVIRONMENT STATE\nA hall.\nA kitchen.\n\n## TASK CONTEXT\nFind the lamp.\n\n## TOOL SCHEMAS\nnone\n\n" +
        "## DOMAIN KNOWLEDGE\nDoors open.\n\n## STEERING DIRECTIVES\nAnswer briefly.",
    },
    { role: "user", content: "State: You are in the hall.\n\nAction: go north" },
  ]);
});

test("null, missing, empty and blank sections are left out", () => {
  const context = {
    environment_state: null,
    task_context: "",
    tool_schemas: " \n\t",
    domain_knowledge: "Doors open.",
  };
  expect(composePrompt(context, interaction)[0]).toEqual({
    role: "system",
    content: "## DOMAIN KNOWLEDGE\nDoors open.",
  });
});

test("without sections there is no system turn", () => {
  for (const context of [undefined, null, {}, { task_context: "  " }]) {
    expect(composePrompt(context, interaction).map(({ role }) => role)).toEqual(["user"]);
  }
});

test("texts are used unchanged, including their white space and labels", () => {
  const state = "  State: x\n\nAction: y\r\n ";
  const [system, user] = composePrompt(
    { task_context: "\n  ## TASK CONTEXT \n" },
    { state, action: " 🚪\t" },
  );
  expect(system?.content).toBe("## TASK CONTEXT\n\n  ## TASK CONTEXT \n");
  expect(user?.content).toBe(`State: ${state}\n\nAction:  🚪\t`);
});

test("a page that composes a prompt loads nothing else", async () => {
  const { outputs } = await Bun.build({ entrypoints: [join(import.meta.dir, "compose-prompt.ts")] });
  expect(outputs).toHaveLength(1);
  expect(await outputs[0]?.text()).not.toMatch(/zod/i);
  expect(outputs[0]?.size).toBeLessThan(2_000);
});
