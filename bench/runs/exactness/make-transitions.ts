import { mersenne } from "pure-rand/generator/mersenne";

/** The things in the world, some of them in each room. */
const things = [
  "a red apple",
  "a cup",
  "a lamp",
  "an orange",
  "a picture",
  "a thermometer",
  "a book",
  "a jar",
];
const rooms = ["kitchen", "hallway", "workshop", "greenhouse"];
const verbs = ["look around", "take", "put down", "go to", "wait"];

export interface Transition {
  readonly trajectory_id: string;
  readonly step: number;
  readonly interaction: { readonly state: string; readonly action: string };
  readonly next_state: string;
  readonly tags: Readonly<Record<string, string>>;
}

/**
 * Walks through rooms, seeded: trajectories of unequal length, states that do not change and states that change a little or
 * much, actions as words and as JSON calls, and a few recorded answers that a published script leaves out because they are
 * only reasoning.
 */
export const makeTransitions = (trajectories: number): Transition[] => {
  const random = mersenne(20261124);
  const draw = (below: number): number => (random.next() >>> 0) % below;
  const pick = (from: readonly string[]): string => from[draw(from.length)] ?? "";
  const transitions: Transition[] = [];
  for (let trajectory = 0; trajectory < trajectories; trajectory += 1) {
    let room = pick(rooms);
    let seen = things.slice(0, 2 + draw(4));
    const tags = {
      split: trajectory % 3 === 0 ? "test" : "train",
      ...(draw(5) === 0 ? { rare: "yes" } : {}),
    };
    const describe = (): string =>
      [`This room is called the ${room}. In it, you see:`, ...seen.map((thing) => `\t${thing}`)].join("\n");
    const steps = 1 + draw(12);
    for (let step = 0; step < steps; step += 1) {
      const state = describe();
      const verb = pick(verbs);
      const thing = pick(things);
      if (verb === "take") seen = seen.filter((one) => one !== thing);
      if (verb === "put down" && !seen.includes(thing)) seen = [...seen, thing];
      if (verb === "go to") {
        room = pick(rooms);
        seen = things.slice(0, draw(things.length));
      }
      const isCall = trajectory % 7 === 6;
      const told = verb === "go to" ? `go to ${room}` : `${verb} ${thing}`;
      const action = isCall ? JSON.stringify([{ name: verb, arguments: { thing } }]) : told;
      const nextState = draw(60) === 0 ? "<think>Nothing to say.</think>" : describe();
      transitions.push({
        trajectory_id: `walk-${trajectory}`,
        step,
        interaction: { state, action },
        next_state: nextState,
        tags,
      });
    }
  }
  return transitions;
};
