/** A small world: what the system turn says of it, and where the agent can be. */
export interface House {
  name: string;
  environment: string;
  rooms: readonly string[];
}

const connections = (lines: readonly string[]) => `[ROOM CONNECTIONS]\n${lines.join("\n")}`;

/** The rooms of the example. Each is one line, as worlds write their maps. */
export const houses: readonly House[] = [
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
