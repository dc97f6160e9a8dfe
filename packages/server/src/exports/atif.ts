import type { DatasetSample } from "@presage/contract";
import packageJson from "../../package.json" with { type: "json" };
import { atif } from "../datasets/traces/layouts/agents/atif.ts";
import { statedFor } from "./stated.ts";
import { actionText, callOf, openingTexts, type Trajectory, toolsOf } from "./trajectory.ts";

/** A trajectory in Harbor's Agent Trajectory Interchange Format, with what it does not say in `extra.presage`. */
export function toAtif(trajectory: Trajectory, version: string): object {
  const { id, samples } = trajectory;
  const tools = toolsOf(trajectory);
  const system = samples[0]?.context?.domain_knowledge;
  const { agent = "presage", model } = samples[0]?.tags ?? {};
  const steps = [
    ...(system ? [{ source: "system", message: system }] : []),
    ...openingTexts(trajectory).map((message) => ({ source: "user", message })),
    ...samples.map(stepOf),
  ].map((step, index) => ({ step_id: index + 1, ...step }));
  const document = {
    schema_version: `ATIF-v${version}`,
    session_id: id,
    agent: {
      name: agent,
      version: packageJson.version,
      ...(model && { model_name: model }),
      ...(tools !== undefined && tools.length > 0 && { tool_definitions: tools }),
    },
    steps,
    extra: { presage: [] as (object | null)[] },
  };
  return { ...document, extra: { presage: statedFor(atif, document, trajectory) } };
}

function stepOf(sample: DatasetSample, index: number) {
  const { next_state, reward, done, at, usage } = sample;
  const call = callOf(sample, index);
  const extra = { ...(reward !== undefined && { reward }), ...(done !== undefined && { done }) };
  const isCalled =
    call !== undefined && typeof call.input === "object" && call.input !== null && !Array.isArray(call.input);
  return {
    source: "agent",
    ...(at !== undefined && { timestamp: at }),
    message: isCalled ? "" : actionText(sample),
    ...(isCalled && {
      tool_calls: [{ tool_call_id: call.id, function_name: call.name, arguments: call.input }],
    }),
    observation: { results: [{ ...(isCalled && { source_call_id: call.id }), content: next_state }] },
    ...(usage !== undefined && { metrics: usage }),
    ...(Object.keys(extra).length > 0 && { extra }),
  };
}
