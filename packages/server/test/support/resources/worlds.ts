import { expect } from "bun:test";
import { World } from "@presage/contract";
import { eventually } from "../eventually.ts";
import type { TestPresage } from "../presage/presage.ts";

/** The calls that tests make on worlds. */
export function worldClient(presage: Pick<TestPresage, "call">) {
  return {
    async create(name: string, config: object): Promise<World> {
      const response = await eventually(
        () => presage.call("POST", "/v1/worlds", { name, ...config }),
        // A slow machine takes longer to index many examples than a request waits.
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

/** The word that occurs only in this step's answer. */
function codeWord(trajectory: string, step: number): string {
  return `word-${trajectory}${step}-end`;
}

/** Four trajectories of three steps with equal actions, two for each task, whose answers each contain a unique word. */
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

/** The answers' words in a prompt, by trajectory, and the trajectory of the prompt's last turn. */
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
