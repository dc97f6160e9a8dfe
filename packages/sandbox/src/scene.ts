import type { Room } from "./world/room.ts";
import type { Thing } from "./world/thing.ts";
import type { WorldMap } from "./world/world-map.ts";

/** The world before the action. */
export interface Scene {
  map: WorldMap;
  carried: Thing[];
  state: string;
  task: string;
  /** Where the agent is, as far as known. */
  room?: Room;
  /** Whether the state says where the agent is; otherwise `room` is a guess. */
  isPlaced: boolean;
  /** Whether the state describes that room in full. */
  isSeen: boolean;
  /** Things whose current condition the state mentions without describing the room. */
  upToDate: Set<Thing>;
}
