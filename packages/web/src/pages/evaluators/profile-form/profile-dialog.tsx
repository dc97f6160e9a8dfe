import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { ProfileForm } from "./profile-form.tsx";

interface ProfileDialogProps {
  isOpen: boolean;
  onClose(): void;
  family: EvaluatorFamily;
  /** The newest revision of the profile that is revised; absent for a new one. */
  revised?: EvaluatorProfile;
  onSaved(profile: EvaluatorProfile): void;
}

export function ProfileDialog({ isOpen, onClose, family, revised, onSaved }: ProfileDialogProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      isWide
      title={revised === undefined ? `New profile of ${family.family_name}` : `Revise ${revised.name}`}
      hint={
        revised === undefined
          ? family.description
          : `Saves revision ${revised.revision + 1}. Earlier results keep the revision that they were made with.`
      }
    >
      <ProfileForm family={family} {...(revised && { revised })} onSaved={onSaved} />
    </Dialog>
  );
}
