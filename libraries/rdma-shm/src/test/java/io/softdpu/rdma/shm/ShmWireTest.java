package io.softdpu.rdma.shm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShmWireTest {

    @Test
    void shouldKeepTheLengthOfAMessageInTheLowHalfOfItsFirstWord() {
        assertThat(ShmWire.firstWord(ShmWire.MAX_MESSAGE_BYTES)).isEqualTo(0x4000_0000L);
        assertThat(ShmWire.firstWord(0xffff_ffff_0000_0007L)).isEqualTo(7);
        assertThat(ShmWire.messageLength(0x8000_0001_ffff_fffeL)).isEqualTo(0xffff_fffeL);
    }

    @Test
    void shouldKeepAnImmediateInTheHighHalf() {
        assertThat(ShmWire.immediate(0x8000_0001_0000_0007L)).isEqualTo(0x8000_0001);
    }
}
