import type { Presage } from "@presage/sdk";
import { createContext, use } from "react";

export const PresageContext = createContext<Presage | undefined>(undefined);

export function usePresage(): Presage {
  const presage = use(PresageContext);
  if (presage === undefined) throw new Error("usePresage needs a PresageContext above it.");
  return presage;
}
