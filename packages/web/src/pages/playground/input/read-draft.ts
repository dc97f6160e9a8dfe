import type { WorldModelRequest } from "@presage/sdk";
import { contextSections } from "./context-sections.ts";
import type { Draft } from "./draft.ts";
import { readParams } from "./read-params.ts";

/** Issues by their path in the request: `interaction.state`, `params.top_p`. */
export type Issues = Readonly<Record<string, string>>;

export interface ReadDraft {
  /** The request, without invalid parameters. */
  request: WorldModelRequest;
  issues: Issues;
}

/** Empty sections and parameters are not in the request. */
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
      ...(state === "" && { "interaction.state": "Describe the state of the environment." }),
      ...(action === "" && { "interaction.action": "Describe what the agent does." }),
      ...issues,
    },
  };
}
