import { Download } from "lucide-react";
import { Button } from "../../ui/button.tsx";

interface DownloadButtonProps {
  fileName: string;
  /** Makes the file’s text; undefined while there is nothing to save. */
  write: (() => string) | undefined;
}

export function DownloadButton({ fileName, write }: DownloadButtonProps) {
  function save() {
    if (write === undefined) return;
    const address = URL.createObjectURL(new Blob([write()], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = fileName;
    link.click();
    URL.revokeObjectURL(address);
  }
  return (
    <Button icon={<Download aria-hidden />} disabled={write === undefined} onClick={save}>
      Download CSV
    </Button>
  );
}
