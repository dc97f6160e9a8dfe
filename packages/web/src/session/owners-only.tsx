import { ShieldAlert } from "lucide-react";
import type { ReactNode } from "react";
import { useRole } from "../data/accounts.ts";
import { EmptyState } from "../ui/notice.tsx";
import { SkeletonRows } from "../ui/skeleton.tsx";

/** What only owners see; others read why not. */
export function OwnersOnly({ children }: { children: ReactNode }) {
  const role = useRole();
  if (role === undefined) return <SkeletonRows count={3} className="h-10" />;
  if (role === "owner") return children;
  return (
    <EmptyState icon={ShieldAlert} title="For owners">
      Your role is {role}. Only owners of your account see this page; one of them can change your role.
    </EmptyState>
  );
}
