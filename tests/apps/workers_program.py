# SPDX-License-Identifier: MIT
"""As a training program: launches while data-loader workers come and go. workers_program.py FOLDER

FOLDER: TLX kernels as PTX beside their metadata. Data workers are forked and spawned, and use no GPU; one spawned
worker launches; a forked one inherits the context, launches nothing, and dies by a signal.
"""
import ctypes
import multiprocessing
import os
import signal
import sys
import threading

N = 1000


class Device:
    def __init__(self, folder):
        self.cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.cuda.cuInit(0))
        self.check(self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.context = context
        self.use()
        self.check(self.cuda.cuModuleLoad(ctypes.byref(module), os.path.join(folder, "tlx_cp.ptx").encode()))
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"tlx_cp"))
        self.x, self.y = self.memory(), self.memory()

    @staticmethod
    def check(result):
        if result:
            raise SystemExit(f"CUresult {result}")

    def use(self):
        self.check(self.cuda.cuCtxSetCurrent(self.context))

    def memory(self):
        address = ctypes.c_uint64()
        self.check(self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4 * N)))
        self.check(self.cuda.cuMemcpyHtoD_v2(address, (ctypes.c_float * N)(*range(N)), ctypes.c_size_t(4 * N)))
        return address

    def launch(self):
        values = [self.x, self.y, ctypes.c_int32(N), ctypes.c_uint64(0), ctypes.c_uint64(0)]
        pointers = (ctypes.c_void_p * 5)(*(ctypes.addressof(v) for v in values))
        self.check(self.cuda.cuLaunchKernel(self.function, 4, 1, 1, 128, 1, 1, 2048, None, pointers, None))

    def sum(self):
        host = (ctypes.c_float * N)()
        self.check(self.cuda.cuMemcpyDtoH_v2(host, self.y, ctypes.c_size_t(4 * N)))
        return sum(host)


def load(queue, n):
    queue.put(sum(range(n)))


def launch_elsewhere(folder):
    device = Device(folder)
    for _ in range(3):
        device.launch()
    device.sum()


def loader(method, n):
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    workers = [context.Process(target=load, args=(queue, n + i)) for i in range(2)]
    for worker in workers:
        worker.start()
    total = sum(queue.get() for _ in workers)
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0, (method, worker.exitcode)
    return total


def main():
    device = Device(sys.argv[1])
    device.launch()
    stop, launched = threading.Event(), [1]

    def keep_launching():
        device.use()
        while not stop.is_set():
            device.launch()
            launched[0] += 1

    thread = threading.Thread(target=keep_launching)
    thread.start()  # forks happen while another thread is in the preload library
    totals = [loader(method, 100 * i) for i, method in enumerate(("fork", "spawn", "fork", "fork"))]
    pid = os.fork()
    if not pid:
        os.kill(os.getpid(), signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    stop.set()
    thread.join()
    worker = multiprocessing.get_context("spawn").Process(target=launch_elsewhere, args=(sys.argv[1],))
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    print(totals, device.sum())
    print("launched", launched[0], file=sys.stderr)


if __name__ == "__main__":
    main()
