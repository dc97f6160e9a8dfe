import { simulateTurn } from "../simulate-turn.ts";
import { type House, houses } from "./houses.ts";

/** A recorded step, as a line of a dataset. */
export interface ExampleSample {
  trajectory_id: string;
  step: number;
  context: { environment_state: string };
  interaction: { state: string; action: string };
  next_state: string;
  tags: { house: string };
}

/** A prediction of one of them, as a line of an upload. */
export interface ExamplePrediction {
  trajectory_id: string;
  step: number;
  prediction: string;
}

export interface Example {
  samples: ExampleSample[];
  predictions: ExamplePrediction[];
}

const trajectoriesOfHouse = 15;
const steps = 8;

/**
 * Trajectories through rooms of the sandbox, and its own predictions of them. The recording remembers everything that has happened;
 * the predictor is told the last observation only, and forgets what was moved, opened and where it is. Always the same.
 */
export function makeExample(): Example {
  const trajectories = houses.flatMap((house, place) =>
    Array.from({ length: trajectoriesOfHouse }, (_, index) => walk(house, place * 1_000 + index)),
  );
  return {
    samples: trajectories.flatMap(({ samples }) => samples),
    predictions: trajectories.flatMap(({ predictions }) => predictions),
  };
}

function walk({ name, environment, rooms }: House, seed: number): Example {
  const choose = chooser(seed);
  const trajectory_id = `${name}-${(seed % 1_000) + 1}`;
  const systemTurn = `## ENVIRONMENT STATE\n${environment}`;
  const observe = (state: string, action: string) =>
    simulateTurn(systemTurn, `State: ${state}\n\nAction: ${action}`);
  const seen = [`You teleport to the ${choose(rooms)}.`];
  const samples: ExampleSample[] = [];
  const predictions: ExamplePrediction[] = [];
  for (let step = 0; step < steps; step += 1) {
    const state = seen.at(-1) ?? "";
    const view = observe(seen.join("\n"), "look around");
    const action = choose(actionsIn(view, seen, rooms));
    const next_state = observe(seen.join("\n"), action);
    const place = { trajectory_id, step };
    samples.push({
      ...place,
      context: { environment_state: environment },
      interaction: { state, action },
      next_state,
      tags: { house: name },
    });
    predictions.push({ ...place, prediction: observe(state, action) });
    seen.push(next_state);
  }
  return { samples, predictions };
}

const portable = [
  "apple",
  "pear",
  "knife",
  "mug",
  "umbrella",
  "picture",
  "tin cup",
  "fig",
  "battery",
  "hammer",
  "rake",
  "bucket",
];
const doors = ["cupboard", "fridge", "chest", "locker"];
const devices = ["stove", "lantern", "fan", "radio", "lamp"];

/** What an agent might do there: more often what the room has. */
function actionsIn(view: string, seen: readonly string[], rooms: readonly string[]): string[] {
  const here = (names: readonly string[]) => names.filter((name) => view.includes(name));
  const held = portable.filter((name) => seen.some((text) => text.includes(`the ${name} to the inventory`)));
  return [
    "look around",
    "look around",
    "inventory",
    ...rooms.map((room) => `go to ${room}`),
    ...here(portable).map((name) => `pick up ${name}`),
    ...here(doors).flatMap((name) => [`open ${name}`, `look in ${name}`]),
    ...here(devices).flatMap((name) => [`turn on ${name}`, `examine ${name}`]),
    ...held.flatMap((name) => here(doors).map((door) => `put ${name} in ${door}`)),
    ...here(["thermometer"]).map((name) => `examine ${name}`),
  ];
}

/** Chooses pseudo-randomly, the same for a seed (mulberry32). */
function chooser(seed: number): <Item>(items: readonly Item[]) => Item {
  let state = seed + 0x9e3779b9;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }
  return (items) => {
    const item = items[Math.floor(next() * items.length)];
    if (item === undefined) throw new Error("There is nothing to choose from");
    return item;
  };
}
