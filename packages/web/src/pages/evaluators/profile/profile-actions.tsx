import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { Link } from "@tanstack/react-router";
import { Archive, ClipboardCheck, ListChecks, Pencil } from "lucide-react";
import { useState } from "react";
import { useArchiveProfile } from "../../../data/evaluators.ts";
import { AllowedButton, AllowedIconButton } from "../../../parts/allowed.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { ConfirmDialog } from "../../../ui/dialog.tsx";
import { ProfileDialog } from "../profile-form/profile-dialog.tsx";

interface ProfileActionsProps {
  /** Undefined while loading, or if the family no longer exists. */
  family: EvaluatorFamily | undefined;
  /** The newest revision. */
  profile: EvaluatorProfile;
}

export function ProfileActions({ family, profile }: ProfileActionsProps) {
  const [open, setOpen] = useState<"revise" | "archive">();
  const close = () => setOpen(undefined);
  const isFixed = profile.is_managed || profile.archived_at !== null;
  return (
    <>
      <Link to="/evaluations" search={{ profile_id: profile.public_id }} className={buttonClass({})}>
        <ListChecks aria-hidden />
        View results
      </Link>
      <Link to="/review" search={{ profile_id: profile.public_id }} className={buttonClass({})}>
        <ClipboardCheck aria-hidden />
        Review
      </Link>
      {!isFixed && (
        <>
          <AllowedIconButton
            needs="evaluate"
            label="Archive"
            icon={<Archive aria-hidden />}
            onClick={() => setOpen("archive")}
          />
          <AllowedButton
            needs="evaluate"
            variant="primary"
            icon={<Pencil aria-hidden />}
            disabled={family === undefined}
            onClick={() => setOpen("revise")}
          >
            Revise
          </AllowedButton>
          <ArchiveProfileDialog isOpen={open === "archive"} onClose={close} profile={profile} />
          {family !== undefined && (
            <ProfileDialog
              isOpen={open === "revise"}
              onClose={close}
              family={family}
              revised={profile}
              onSaved={close}
            />
          )}
        </>
      )}
    </>
  );
}

interface ArchiveProfileDialogProps {
  isOpen: boolean;
  onClose(): void;
  profile: EvaluatorProfile;
}

function ArchiveProfileDialog({ isOpen, onClose, profile }: ArchiveProfileDialogProps) {
  const archive = useArchiveProfile(profile.public_id);
  return (
    <ConfirmDialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Archive ${profile.name}?`}
      confirmLabel="Archive profile"
      change={archive}
      onConfirm={() => archive.mutate(undefined, { onSuccess: onClose })}
    >
      It can no longer be used or revised, and its name stays taken. Its results are kept. This cannot be
      undone.
    </ConfirmDialog>
  );
}
