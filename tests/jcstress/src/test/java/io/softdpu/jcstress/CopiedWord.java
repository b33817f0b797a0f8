package io.softdpu.jcstress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.softdpu.core.copy.Copier;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/**
 * A transport copies data, then a word that announces it; another reads the word, then the data.
 */
@JCStressTest
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "announced, and not there")
@Outcome(expect = ACCEPTABLE, desc = "not announced yet, or there")
@State
public class CopiedWord {
    private static final MemorySegment ONE = MemorySegment.ofArray(new long[] {1});
    private static final long DATA = 0;
    private static final long WORD = 128;

    private final MemorySegment memory = Memory.next().fill((byte) 0);
    private final MemorySegment seen = MemorySegment.ofArray(new long[2]);
    private final Copier writer = new Copier();
    private final Copier reader = new Copier();

    @Actor
    public void write() {
        writer.payload(ONE, 0, memory, DATA, Long.BYTES);
        writer.storeWord(ONE, 0, memory, WORD);
    }

    @Actor
    public void read(JJ_Result r) {
        reader.loadWord(memory, WORD, seen, 0);
        reader.payload(memory, DATA, seen, Long.BYTES, Long.BYTES);
        r.r1 = seen.getAtIndex(ValueLayout.JAVA_LONG, 0);
        r.r2 = seen.getAtIndex(ValueLayout.JAVA_LONG, 1);
    }
}
