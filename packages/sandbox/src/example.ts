import { simulateTurn } from "./simulate-turn.ts";

/** A recorded step, as a line of a dataset. */
interface ExampleSample {
  trajectory_id: string;
  step: number;
  context: { environment_state: string };
  interaction: { state: string; action: string };
  next_state: string;
  tags: { house: string };
}

/** A prediction of such a step, as a line of an upload. */
interface ExamplePrediction {
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
 * Trajectories through rooms of the sandbox, and the sandbox's own predictions of them. The recording remembers everything that happened;
 * the predictor is told only the last observation, and forgets what was moved or opened and where it is. Always the same.
 */
export function makeExample(): Example {
  const trajectories = houses.flatMap((house, position) =>
    Array.from({ length: trajectoriesOfHouse }, (_, index) => walk(house, position * 1_000 + index)),
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
    const position = { trajectory_id, step };
    samples.push({
      ...position,
      context: { environment_state: environment },
      interaction: { state, action },
      next_state,
      tags: { house: name },
    });
    predictions.push({ ...position, prediction: observe(state, action) });
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

/** The actions that an agent might choose from, most of them with things that it sees. */
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

/** Chooses pseudo-randomly; a seed always gives the same choices (mulberry32). */
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

/** A small world: what the system turn says about it, and where the agent can be. */
interface House {
  name: string;
  environment: string;
  rooms: readonly string[];
}

const connections = (lines: readonly string[]) => `[ROOM CONNECTIONS]\n${lines.join("\n")}`;

/** The rooms of the example. Each is one line, as worlds write their maps. */
const houses: readonly House[] = [
  {
    name: "cottage",
    rooms: ["kitchen", "hallway", "pantry"],
    environment: [
      "[COMPLETE ROOM MAP]",
      "[kitchen]",
      "This room is called the kitchen. In it, you see: a bowl (containing an apple, a pear) a cupboard. The cupboard door is closed. a fridge. The fridge door is closed. a glass cup (containing a substance called water) a stove, which is turned off. On the stove is: nothing. a table. On the table is: a knife, a mug (containing nothing). a thermometer, currently reading a temperature of 19 degrees celsius You also see: A door to the hallway (that is open) A door to the pantry (that is open)",
      "",
      "[hallway]",
      "This room is called the hallway. In it, you see: a lantern, which is deactivated. a picture an umbrella You also see: A door to the kitchen (that is open)",
      "",
      "[pantry]",
      "This room is called the pantry. In it, you see: a chest. The chest door is closed. a jar (containing a fig, a plum) a tin cup (containing nothing) You also see: A door to the kitchen (that is open)",
      "",
      connections([
        "- kitchen connects to: hallway, pantry",
        "- hallway connects to: kitchen",
        "- pantry connects to: kitchen",
      ]),
    ].join("\n"),
  },
  {
    name: "workshop",
    rooms: ["workshop", "yard", "greenhouse"],
    environment: [
      "[COMPLETE ROOM MAP]",
      "[workshop]",
      "This room is called the workshop. In it, you see: a battery a bench. On the bench is: a box (containing a bolt, a nail), a hammer. a fan, which is turned off. a locker. The locker door is closed. a radio, which is turned off. a switch, which is off. You also see: A door to the yard (that is open)",
      "",
      "[yard]",
      "This room is called the yard. In it, you see: a barrel (containing a substance called rain water) a bucket (containing nothing) a rake You also see: A door to the greenhouse (that is open) A door to the workshop (that is open)",
      "",
      "[greenhouse]",
      "This room is called the greenhouse. In it, you see: a flower pot (containing soil) a lamp, which is deactivated. a thermometer, currently reading a temperature of 27 degrees celsius a watering can (containing a substance called water) You also see: A door to the yard (that is open)",
      "",
      connections([
        "- workshop connects to: yard",
        "- yard connects to: greenhouse, workshop",
        "- greenhouse connects to: yard",
      ]),
    ].join("\n"),
  },
];
