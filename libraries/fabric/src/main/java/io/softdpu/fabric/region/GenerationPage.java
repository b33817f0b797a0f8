package io.softdpu.fabric.region;

import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Generation page of a region, shared with its importers: one word, the generation, which is
 * constant while the region is valid and changes when it is revoked. Importers can only read it
 * (sealed against further writable mappings), so none can revoke another's.
 */
final class GenerationPage {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long FIRST_GENERATION = 1;

    /** Increment of the generation of a region that was revoked explicitly. */
    private static final long EXPLICIT_REVOCATION = 1;

    /** Increment of the generation of a re-export whose original exporter has ended. */
    private static final long EXPORTER_ENDED = 2;

    private final SharedSegment page;
    private final MemorySegment word;
    private final long address;
    private final long expected;

    private GenerationPage(SharedSegment page, long expected) {
        this.page = page;
        this.word = page.segment();
        this.address = page.address();
        this.expected = expected;
    }

    /** Creates the exporter's page. */
    static GenerationPage create() {
        SharedSegment page = SharedSegment.allocate("softdpu-generation", MemoryMapping.pageSize());
        WORD.setRelease(page.segment(), 0L, FIRST_GENERATION);
        page.seal(true);
        return new GenerationPage(page, FIRST_GENERATION);
    }

    /** Creates the importer's view; takes over the mapped page. */
    static GenerationPage adopt(SharedSegment page, long expected) {
        return new GenerationPage(page, expected);
    }

    long expected() {
        return expected;
    }

    int descriptor() {
        return page.descriptor();
    }

    /** Whether the exporter has changed the word; one load. */
    boolean revoked() {
        return (long) WORD.getAcquire(word, 0L) != expected;
    }

    /** The same at less cost, for a caller that knows that the page is not released meanwhile. */
    boolean revokedWhileHeld() {
        return (long) WORD.getAcquire(NativeMemory.ALL_MEMORY, address) != expected;
    }

    /**
     * Whether it was revoked explicitly, not because the original exporter has ended. A word that
     * no correct exporter writes counts as explicit revocation.
     */
    boolean revokedExplicitly() {
        long seen = (long) WORD.getAcquire(word, 0L);
        return seen != expected && seen != expected + EXPORTER_ENDED;
    }

    void revoke() {
        WORD.setRelease(word, 0L, expected + EXPLICIT_REVOCATION);
    }

    void exporterEnded() {
        WORD.setRelease(word, 0L, expected + EXPORTER_ENDED);
    }

    SharedSegment page() {
        return page;
    }
}
