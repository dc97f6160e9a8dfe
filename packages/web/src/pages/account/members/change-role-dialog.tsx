import type { Member, Role } from "@presage/sdk";
import { nameOf } from "../../../data/members.ts";
import { ConfirmDialog } from "../../../ui/overlay/confirm-dialog.tsx";

export interface AskedRole {
  member: Member;
  role: Role;
}

interface ChangeRoleDialogProps {
  /** Undefined: nothing is asked. */
  asked: AskedRole | undefined;
  isOwn: boolean;
  isBusy: boolean;
  onClose(): void;
  onConfirm(asked: AskedRole): void;
}

export function ChangeRoleDialog({ asked, isOwn, isBusy, onClose, onConfirm }: ChangeRoleDialogProps) {
  return (
    <ConfirmDialog
      isOpen={asked !== undefined}
      onClose={onClose}
      title={asked === undefined ? "" : `Make ${isOwn ? "yourself" : nameOf(asked.member)} ${asked.role}?`}
      confirmLabel="Change the role"
      isBusy={isBusy}
      onConfirm={() => asked !== undefined && onConfirm(asked)}
    >
      {isOwn
        ? "You then may no longer change roles: only another owner can make you an owner again."
        : "The role takes effect at once, for the user’s keys too."}
    </ConfirmDialog>
  );
}
