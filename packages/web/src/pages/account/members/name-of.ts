import type { Member } from "@presage/sdk";

export function nameOf({ name, email, id }: Member): string {
  return name ?? email ?? id;
}
