import type { Scene } from "../scene.ts";
import type { Verb } from "./verb.ts";

export const travelVerbs: readonly Verb[] = [
  {
    pattern: /^teleport (?:to )?(?:the )?(.+)$/i,
    observe: ({ map }, [room = ""]) =>
      map.rooms.size === 0 || map.rooms.has(room) ? `You teleport to the ${room}.` : undefined,
  },
  {
    pattern: /^(?:go|walk|move|enter|head) (?:to |into )?(?:the )?([^.]+)$/i,
    observe: (scene, [room = ""]) => (canWalkTo(scene, room) ? `You move to the ${room}.` : undefined),
  },
];

/** If no exit of the room is known, the world does not say which rooms are adjacent, so any may be. */
function canWalkTo({ map, room, isPlaced }: Scene, to: string): boolean {
  const neighbours = map.neighbours.get(room?.name ?? "");
  if (neighbours === undefined) return map.rooms.size === 0 || map.rooms.has(to);
  const isShut = room?.doors.some((door) => door.to === to && !door.isOpen) ?? false;
  return (neighbours.has(to) && !isShut) || (!isPlaced && map.rooms.has(to));
}
