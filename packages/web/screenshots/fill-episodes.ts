import type { Presage } from "@presage/sdk";

/** What agents do in the sandbox, well or not. */
const attempts = [
  ["look around", "activate lantern"],
  ["look around", "open chest"],
  ["move hammer to inventory"],
  ["look around", "move hammer to inventory", "look around", "move hammer to jar"],
  ["look around", "look around", "look around", "look around", "look around"],
  ["open door to yard"],
];

/** Episodes of the sandbox with different ends. */
export async function fillEpisodes({ episodes }: Presage): Promise<void> {
  for (let index = 0; index < 24; index += 1) {
    const actions = attempts[index % attempts.length] ?? [];
    const start = { environment: "sandbox", index: index % 5 };
    const { episode_id } = await episodes.start(start);
    for (const action of actions) {
      const { terminated, truncated } = await episodes.step(episode_id, action);
      if (terminated || truncated) break;
    }
  }
}
