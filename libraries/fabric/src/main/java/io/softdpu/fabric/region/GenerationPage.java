package io.softdpu.fabric.region;

import io.softdpu.fabric.memory.SharedSegment;
import io.softdpu.linux.MemoryMapping;
import io.softdpu.linux.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * One page that an exporter shares with those it gave a region to: a word that holds while the
 * region is good and changes when it is revoked. Importers can only read it (sealed against further
 * writable mappings), so none can revoke another's.
 */
final class GenerationPage {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long FIRST_GENERATION = 1;

    /** What is added to the word of a region that was withdrawn on purpose. */
    private static final long WITHDRAWN = 1;

    /** What is added to the word of a re-export whose first exporter has ended. */
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

    /** The exporter's page. */
    static GenerationPage create() {
        SharedSegment page = SharedSegment.allocate("softdpu-generation", MemoryMapping.pageSize());
        WORD.setRelease(page.segment(), 0L, FIRST_GENERATION);
        page.seal(true);
        return new GenerationPage(page, FIRST_GENERATION);
    }

    /** The importer's view of a page that was mapped, which is taken over. */
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

    /** The same for whoever knows that the page is not released meanwhile, which costs less. */
    boolean revokedWhileHeld() {
        return (long) WORD.getAcquire(NativeMemory.EVERYTHING, address) != expected;
    }

    /**
     * Whether it was changed for another reason than that the first exporter has ended. A word that
     * no correct exporter writes counts as withdrawn.
     */
    boolean withdrawn() {
        long seen = (long) WORD.getAcquire(word, 0L);
        return seen != expected && seen != expected + EXPORTER_ENDED;
    }

    void withdraw() {
        WORD.setRelease(word, 0L, expected + WITHDRAWN);
    }

    void exporterEnded() {
        WORD.setRelease(word, 0L, expected + EXPORTER_ENDED);
    }

    SharedSegment page() {
        return page;
    }
}
