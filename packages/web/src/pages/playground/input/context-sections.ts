import type { Context } from "@presage/sdk";

export type ContextField = keyof Context;

/** The sections of the system turn, in order. */
export const contextSections: readonly { field: ContextField; label: string; hint: string }[] = [
  {
    field: "environment_state",
    label: "Environment state",
    hint: "Layout and contents of the environment: rooms, pages, records, and what is in them.",
  },
  { field: "task_context", label: "Task context", hint: "What the agent is trying to do." },
  {
    field: "tool_schemas",
    label: "Tool schemas",
    hint: "The tools that actions may call, with their arguments.",
  },
  {
    field: "domain_knowledge",
    label: "Domain knowledge",
    hint: "Rules that the environment follows, for example what a locked door does.",
  },
  {
    field: "steering_directives",
    label: "Steering directives",
    hint: "How the response should be written: format, length, language.",
  },
];
