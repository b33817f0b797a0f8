package io.softdpu.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.rdma.roce.RoceSections;
import io.softdpu.testkit.StartsProcesses;

/** Sections of connection blobs: what was decoded encodes to the same bytes. */
@StartsProcesses
class RoceSectionFuzzTest {

    @FuzzTest
    void bytes(byte[] section) {
        RoceSections.check(section);
    }
}
