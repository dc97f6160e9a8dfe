import { ListFilter } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Popover } from "../../../ui/popover.tsx";
import type { Explorer } from "../use-explorer.ts";
import { ActiveFilters } from "./active-filters.tsx";
import { activeFilters } from "./filter-words.ts";
import { MainFilters } from "./main-filters.tsx";
import { MoreFilters } from "./more-filters.tsx";

/** What is looked for. On a narrow screen all of it is in a sheet. */
export function FilterBar({ explorer }: { explorer: Explorer }) {
  const [isSheetOpen, setSheetOpen] = useState(false);
  const count = activeFilters(explorer.search).length;
  return (
    <div className="flex flex-col gap-2">
      <div className="hidden flex-wrap items-center gap-2 md:flex [&_select]:w-44">
        <MainFilters explorer={explorer} />
        <Popover
          label="More filters"
          trigger={<Button icon={<ListFilter aria-hidden />}>More filters</Button>}
        >
          <MoreFilters explorer={explorer} />
        </Popover>
      </div>
      <div className="md:hidden">
        <Button icon={<ListFilter aria-hidden />} onClick={() => setSheetOpen(true)}>
          Filters{count > 0 && ` (${count})`}
        </Button>
        <Dialog isOpen={isSheetOpen} onClose={() => setSheetOpen(false)} title="Filters">
          <div className="flex flex-col gap-3 [&_select]:w-full">
            <MainFilters explorer={explorer} />
            <MoreFilters explorer={explorer} />
          </div>
        </Dialog>
      </div>
      <ActiveFilters explorer={explorer} />
    </div>
  );
}
