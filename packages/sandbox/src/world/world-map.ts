import { parseRooms, type Room } from "./room.ts";

/** Everything that the system turn tells about the world before anybody acts. */
export interface WorldMap {
  rooms: Map<string, Room>;
  /** From each room to those next to it. Rooms that are in neither list nor doorway have no entry. */
  neighbours: Map<string, Set<string>>;
  /** Where the agent begins. */
  start?: string;
}

const CONNECTION = /^- ([^\n:]{1,80}) connects to: ([^\n]+)$/gm;
const MAP_HEADING = "[COMPLETE ROOM MAP]";

export function parseWorldMap(environment: string): WorldMap {
  const mapAt = Math.max(0, environment.indexOf(MAP_HEADING));
  const rooms = new Map(parseRooms(environment.slice(mapAt)).map((room) => [room.name, room]));

  // What stands before the map is the room that the agent sees first, seen later than the map was drawn.
  const start = parseRooms(environment.slice(0, mapAt))[0];
  if (start !== undefined) rooms.set(start.name, start);

  const neighbours = new Map<string, Set<string>>();
  for (const room of rooms.values()) {
    if (room.doors.length > 0) neighbours.set(room.name, new Set(room.doors.map(({ to }) => to)));
  }
  for (const [, name = "", list = ""] of environment.matchAll(CONNECTION)) {
    neighbours.set(name, new Set(list.split(", ")));
  }
  const startName = start?.name ?? (rooms.size === 1 ? [...rooms.keys()][0] : undefined);
  return startName === undefined ? { rooms, neighbours } : { rooms, neighbours, start: startName };
}
