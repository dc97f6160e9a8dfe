/** How many items two sequences share at their beginnings, and then at their ends. */
export interface SharedEnds {
  prefix: number;
  suffix: number;
}

export function sharedEnds<Item>(one: ArrayLike<Item>, other: ArrayLike<Item>): SharedEnds {
  const shorter = Math.min(one.length, other.length);
  let prefix = 0;
  while (prefix < shorter && one[prefix] === other[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < shorter - prefix && one[one.length - 1 - suffix] === other[other.length - 1 - suffix]) {
    suffix += 1;
  }
  return { prefix, suffix };
}
