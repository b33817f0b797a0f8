package io.softdpu.fabric.region;

/** Access of tests of a whole bus to regions. */
public final class RegionProbe {
    private RegionProbe() {}

    /** Number of re-exports of an import that importers may still hold. */
    public static int children(ImportedRegion region) {
        return region.children();
    }
}
