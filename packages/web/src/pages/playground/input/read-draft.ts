import type { WorldModelRequest } from "@presage/sdk";
import { contextSections } from "./context-sections.ts";
import type { Draft } from "./draft.ts";
import { readParams } from "./read-params.ts";

/** What is wrong, by the place in the request: `interaction.state`, `params.top_p`. */
export type Issues = Readonly<Record<string, string>>;

export interface ReadDraft {
  /** The request as it stands, with what could be read of it. */
  request: WorldModelRequest;
  issues: Issues;
}

/** The request that a draft stands for. Empty sections and parameters that nobody set are not in it. */
export function readDraft({ context, state, action, params }: Draft): ReadDraft {
  const sections = contextSections.map(({ field }) => [field, context[field]] as const);
  const written = Object.fromEntries(sections.filter(([, text]) => text !== ""));
  const { params: set, issues } = readParams(params);
  return {
    request: {
      ...(Object.keys(written).length > 0 && { context: written }),
      interaction: { state, action },
      ...(Object.keys(set).length > 0 && { params: set }),
    },
    issues: {
      ...(state === "" && { "interaction.state": "Say what state the environment is in." }),
      ...(action === "" && { "interaction.action": "Say what the agent does." }),
      ...issues,
    },
  };
}
