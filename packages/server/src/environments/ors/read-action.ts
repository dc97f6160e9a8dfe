import type { EnvironmentConfig, EnvironmentTool } from "@presage/contract";
import { toStorableText } from "../../platform/storage/storable-text.ts";

const defaultTool: EnvironmentTool = {
  name: "act",
  description: "Does something in the environment. Returns what is seen after it.",
  argument: "action",
};
/** As in a step over HTTP. */
const maxActionCharacters = 100_000;

/** The tool that agents act with. */
export function toolOf({ tool }: Pick<EnvironmentConfig, "tool">): EnvironmentTool {
  return tool ?? defaultTool;
}

/** The action of a call, or, for the agent to read, why it is not valid. */
export function readAction(
  config: Pick<EnvironmentConfig, "tool">,
  { name, input }: { name: string; input: Readonly<Record<string, unknown>> },
): { action: string } | { refusal: string } {
  const tool = toolOf(config);
  if (name !== tool.name)
    return { refusal: `${JSON.stringify(name.slice(0, 100))} is not a valid tool; there is ${tool.name}.` };
  const { [tool.argument]: action, ...others } = input;
  if (typeof action !== "string" || action.trim() === "")
    return { refusal: `The argument ${tool.argument} of ${tool.name} must be a text.` };
  if (action.length > maxActionCharacters)
    return { refusal: `The argument ${tool.argument} has at most ${maxActionCharacters} characters.` };
  if (Object.keys(others).length > 0)
    return { refusal: `${tool.name} has only the argument ${tool.argument}.` };
  // As it is stored, so that the model is told the same in all later steps.
  return { action: toStorableText(action) };
}
