import type { WorldModelRequest } from "@presage/sdk";

/** The names of what differs between two requests. */
export function changedInputs(one: WorldModelRequest, other: WorldModelRequest): string[] {
  const flatOne = flatten(one);
  const flatOther = flatten(other);
  const names = new Set([...Object.keys(flatOne), ...Object.keys(flatOther)]);
  return [...names].filter((name) => JSON.stringify(flatOne[name]) !== JSON.stringify(flatOther[name]));
}

function flatten({ context, interaction, params }: WorldModelRequest): Record<string, unknown> {
  return { ...context, ...interaction, ...params };
}
