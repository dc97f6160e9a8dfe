import { expect } from "bun:test";
import { World } from "@presage/contract";
import { eventually } from "../eventually.ts";
import type { TestPresage } from "../presage/presage.ts";

/** The calls that tests make of worlds. */
export function worldClient(presage: Pick<TestPresage, "call">) {
  return {
    async create(name: string, config: object): Promise<World> {
      const response = await eventually(
        () => presage.call("POST", "/v1/worlds", { name, ...config }),
        // Many examples take a slow machine longer to index than a request waits.
        ({ status }) => status !== 503,
        240_000,
      );
      const text = await response.text();
      expect([response.status, text]).toEqual([201, expect.any(String)]);
      return World.parse(JSON.parse(text));
    },
    async remove(name: string): Promise<{ status: number; detail: string }> {
      const response = await presage.call("DELETE", `/v1/worlds/${name}`);
      const text = await response.text();
      return { status: response.status, detail: text === "" ? "" : JSON.parse(text).detail };
    },
  };
}

/** The word that only the answer of a step has. */
function codeWord(trajectory: string, step: number): string {
  return `word-${trajectory}${step}-end`;
}

/** Four trajectories of three steps with equal actions, two of each task, whose answers each have a word of their own. */
export const markedSamples = ["a", "b", "c", "d"].flatMap((trajectory, index) =>
  [0, 1, 2].map((step) => ({
    trajectory_id: trajectory,
    step,
    context: { task_context: `Task ${index >> 1}.` },
    interaction: { state: `Room of ${trajectory}, ${step}.`, action: `open door ${step}` },
    next_state: `Opened: ${codeWord(trajectory, step)}.`,
    tags: { task: String(index >> 1) },
  })),
);

/** Which of the answers' words a prompt has, by trajectory, and the trajectory that its last turn is of. */
export function readMarks(messages: readonly { content?: string | null }[]) {
  const texts = messages.map(({ content }) => content ?? "");
  const words = [...texts.join("\n").matchAll(/word-([a-z])(\d)-end/g)];
  const [, own = ""] = /Room of ([a-z])/.exec(texts.at(-1) ?? "") ?? [];
  return {
    own,
    ofOwn: words.filter(([, trajectory]) => trajectory === own).map(([, , step]) => Number(step)),
    trajectories: [...new Set(words.map(([, trajectory = ""]) => trajectory))].sort().join(""),
  };
}
