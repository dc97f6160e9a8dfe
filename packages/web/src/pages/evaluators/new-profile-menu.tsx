import type { EvaluatorFamily } from "@presage/sdk";
import { useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { ProfileDialog } from "./profile-form/profile-dialog.tsx";

/** Creates a profile of one of the families that there are. */
export function NewProfileMenu({ families }: { families: readonly EvaluatorFamily[] | undefined }) {
  const [family, setFamily] = useState<EvaluatorFamily>();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Menu
        trigger={
          <Button variant="primary" icon={<Plus aria-hidden />} disabled={families === undefined}>
            New profile
          </Button>
        }
      >
        <div className="max-h-96 max-w-96 overflow-y-auto">
          {families?.map((one) => (
            <MenuItem
              key={one.family_name}
              onSelect={() => {
                setFamily(one);
                setOpen(true);
              }}
            >
              <span className="flex min-w-0 flex-col">
                <span className="font-medium">{one.family_name}</span>
                <span className="text-xs text-ink-3">{one.description}</span>
              </span>
            </MenuItem>
          ))}
        </div>
      </Menu>
      {family !== undefined && (
        <ProfileDialog
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          family={family}
          onSaved={({ public_id }) =>
            navigate({ to: "/evaluators/profiles/$publicId", params: { publicId: public_id } })
          }
        />
      )}
    </>
  );
}
