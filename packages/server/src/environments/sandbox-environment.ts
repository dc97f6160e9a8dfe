import type { TaskSplitName } from "@presage/contract";
import type { EnvironmentRevision } from "./environment.ts";
import type { IndexedTask } from "./tasks/tasks-store.ts";

export const sandboxName = "sandbox";

interface Place {
  map: string;
  start: string;
}

/** As the rules of the sandbox read it: two rooms with a door between them. */
function placeOf({ room, beyond }: Record<"room" | "beyond", { name: string; things: string }>): Place {
  const describe = (one: typeof room, other: typeof room) =>
    `This room is called the ${one.name}. In it, you see: ${one.things} You also see: A door to the ${other.name} (that is closed)`;
  const start = describe(room, beyond);
  const map = [
    `[${room.name}]\n${start}`,
    `[${beyond.name}]\n${describe(beyond, room)}`,
    `[ROOM CONNECTIONS]\n- ${room.name} connects to: ${beyond.name}\n- ${beyond.name} connects to: ${room.name}`,
  ].join("\n\n");
  return { map, start };
}

const workshop = placeOf({
  room: {
    name: "workshop",
    things:
      "a bench. On the bench is: a hammer, a jar (containing a nail, a screw). a lantern, which is deactivated. a chest. The chest door is closed.",
  },
  beyond: { name: "yard", things: "a kite a rope a shed. The shed door is closed." },
});
const kitchen = placeOf({
  room: {
    name: "kitchen",
    things:
      "a table. On the table is: an apple, a bowl (containing nothing). a stove, which is deactivated. a cupboard. The cupboard door is closed.",
  },
  beyond: {
    name: "pantry",
    things: "a broom a lamp, which is deactivated. a crate. The crate door is closed.",
  },
});

/** A goal is what the world answers to the last action. */
const goals: readonly { split: TaskSplitName; place: Place; prompt: string; goal: string }[] = [
  { split: "train", place: workshop, prompt: "Turn on the lantern.", goal: "The lantern is now activated." },
  { split: "train", place: workshop, prompt: "Open the chest.", goal: "The chest is now open." },
  {
    split: "train",
    place: workshop,
    prompt: "Take the hammer.",
    goal: "You move the hammer to the inventory.",
  },
  {
    split: "train",
    place: workshop,
    prompt: "Put the hammer in the jar.",
    goal: "You move the hammer to the jar.",
  },
  { split: "train", place: workshop, prompt: "Go to the yard.", goal: "You move to the yard." },
  { split: "train", place: workshop, prompt: "Bring the kite.", goal: "You move the kite to the inventory." },
  {
    split: "train",
    place: workshop,
    prompt: "Focus on the rope in the yard.",
    goal: "You focus on the rope.",
  },
  { split: "train", place: workshop, prompt: "Open the shed in the yard.", goal: "The shed is now open." },
  { split: "train", place: kitchen, prompt: "Turn on the stove.", goal: "The stove is now activated." },
  { split: "train", place: kitchen, prompt: "Open the cupboard.", goal: "The cupboard is now open." },
  { split: "train", place: kitchen, prompt: "Take the apple.", goal: "You move the apple to the inventory." },
  {
    split: "train",
    place: kitchen,
    prompt: "Put the apple in the bowl.",
    goal: "You move the apple to the bowl.",
  },
  { split: "train", place: kitchen, prompt: "Go to the pantry.", goal: "You move to the pantry." },
  {
    split: "train",
    place: kitchen,
    prompt: "Bring the broom.",
    goal: "You move the broom to the inventory.",
  },
  {
    split: "train",
    place: kitchen,
    prompt: "Turn on the lamp in the pantry.",
    goal: "The lamp is now activated.",
  },
  { split: "train", place: kitchen, prompt: "Open the crate in the pantry.", goal: "The crate is now open." },
  { split: "test", place: workshop, prompt: "Focus on the lantern.", goal: "You focus on the lantern." },
  { split: "test", place: workshop, prompt: "Bring the rope.", goal: "You move the rope to the inventory." },
  { split: "test", place: kitchen, prompt: "Eat the apple.", goal: "The apple was delicious." },
  {
    split: "test",
    place: kitchen,
    prompt: "Focus on the broom in the pantry.",
    goal: "You focus on the broom.",
  },
];

/** Comes with Presage for every account, so that everything can be tried without a model. */
export const sandboxEnvironment: EnvironmentRevision = {
  id: sandboxName,
  name: sandboxName,
  revision: 1,
  config: {
    description:
      "Rooms of the built-in sandbox, played by the default deployment. An episode succeeds when the world answers as the task wants it.",
    stop: [{ output_contains: "{goal}", outcome: "success" }],
    max_steps: 20,
    guards: { repeat_limit: 5 },
  },
  tasks: { train: countOf("train"), test: countOf("test") },
  times: undefined,
};

export function sandboxTasks(split: TaskSplitName): IndexedTask[] {
  return goals
    .filter((one) => one.split === split)
    .map(({ place, prompt, goal }, index) => ({
      index,
      task: {
        initial_state: place.start,
        prompt,
        context: { environment_state: place.map, task_context: prompt },
        goal,
      },
    }));
}

function countOf(split: TaskSplitName): number {
  return goals.filter((one) => one.split === split).length;
}
