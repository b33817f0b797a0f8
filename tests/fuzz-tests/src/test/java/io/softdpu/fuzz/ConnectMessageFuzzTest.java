package io.softdpu.fuzz;

import com.code_intelligence.jazzer.api.FuzzedDataProvider;
import com.code_intelligence.jazzer.junit.FuzzTest;
import io.softdpu.rdma.shm.ConnectMessages;
import io.softdpu.testkit.StartsProcesses;

/** Requests and answers of RDMA connections by address. */
@StartsProcesses
class ConnectMessageFuzzTest {

    @FuzzTest
    void bytes(byte[] payload) {
        ConnectMessages.check(payload);
    }

    @FuzzTest
    void fields(FuzzedDataProvider data) {
        ConnectMessages.checkFields(
                data.consumeInt(0, 2),
                data.consumeInt(0, 15),
                data.consumeBytes(16),
                data.consumeBytes(16),
                data.consumeInt(1, 0xffff),
                data.consumeRemainingAsBytes());
    }
}
