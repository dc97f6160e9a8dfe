import { Share2 } from "lucide-react";
import { Suspense, useState } from "react";
import { Dialog } from "../ui/dialog.tsx";
import { lazyPart } from "../ui/load.ts";
import { SkeletonRows } from "../ui/skeleton.tsx";
import { AllowedButton } from "./allowed.tsx";
import type { ShareProps } from "./share-links.tsx";

const ShareLinks = lazyPart(async () => (await import("./share-links.tsx")).ShareLinks);

/** Creates and revokes links that show something to people without an account. */
export function ShareButton(props: ShareProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <AllowedButton needs="evaluate" icon={<Share2 aria-hidden />} onClick={() => setOpen(true)}>
        Share
      </AllowedButton>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        hasForm
        title={`Share this ${props.kind.replace("-", " ")}`}
        hint="Whoever has the link can read and print the report, without signing in. It ends at its time, when you revoke it, when you may no longer make it, and when what it shows is deleted."
      >
        <Suspense fallback={<SkeletonRows count={2} className="h-9" />}>
          <ShareLinks {...props} />
        </Suspense>
      </Dialog>
    </>
  );
}
