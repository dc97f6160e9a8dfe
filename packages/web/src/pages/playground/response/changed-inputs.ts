import type { WorldModelRequest } from "@presage/sdk";

/** The names of the inputs that differ. */
export function changedInputs(one: WorldModelRequest, other: WorldModelRequest): string[] {
  const flatOne = flatten(one);
  const flatOther = flatten(other);
  const names = new Set([...Object.keys(flatOne), ...Object.keys(flatOther)]);
  return [...names].filter((name) => JSON.stringify(flatOne[name]) !== JSON.stringify(flatOther[name]));
}

function flatten({ context, interaction, params }: WorldModelRequest): Record<string, unknown> {
  return { ...context, ...interaction, ...params };
}
