# SPDX-License-Identifier: MIT
"""A package that stands in for Triton: it gives back a cubin kept for each entry, and dies on one."""
import json
import os

FAKE_TRITON = {
    "__init__.py": "__version__ = '9.9.0+git0123456789ab'\n",
    "_C/__init__.py": "",
    "_C/libtriton.py": """
class Module:
    def __init__(self, path):
        with open(path) as f:
            self.text = f.read()
class ir:
    @staticmethod
    def context():
        return None
    @staticmethod
    def load_dialects(context):
        pass
    @staticmethod
    def parse_mlir_module(path, context):
        return Module(path)
""",
    "backends/__init__.py": "",
    "backends/compiler.py": """
class Language:
    TRITON, GLUON = 0, 1
class GPUTarget:
    def __init__(self, backend, arch, warp_size):
        self.backend, self.arch, self.warp_size = backend, arch, warp_size
""",
    "backends/nvidia/__init__.py": "",
    "backends/nvidia/compiler.py": "def get_ptxas(arch):\n    return ''\n",
    "compiler/__init__.py": "",
    "compiler/compiler.py": """
import glob, json, os, re
KEPT = os.environ['KEPT']
OTHER = json.loads(os.environ['OTHER'])
class Options:
    def __init__(self, given):
        assert given['num_warps'] and 'arch' not in given
        self.num_warps = given['num_warps']
class Backend:
    def parse_options(self, given):
        return Options(given)
    def load_dialects(self, context):
        pass
    def add_stages(self, stages, options, language):
        self.num_warps = options.num_warps
        stages['ttir'] = lambda module, metadata: module.text
        stages['ttgir'] = self.ttgir
        stages['ptx'] = lambda text, metadata: open(self.stem + '.ptx').read()
        stages['cubin'] = lambda text, metadata: open(self.stem + '.cubin', 'rb').read()
    def ttgir(self, text, metadata):
        name = re.search(r'tt.func public @(\w+)', text).group(1)
        if name == 'adam':
            os.abort()
        if name == 'transpose':
            raise RuntimeError('no transposing in this release')
        # The config is the one with the same text.
        for source in glob.glob(KEPT + '/*/' + name + '.source'):
            if open(source).read() == text:
                self.stem = source[:-len('.source')]
                with open(self.stem + '.json') as f:
                    kept = json.load(f)
                if self.num_warps != kept['num_warps']:
                    self.stem, = glob.glob(OTHER[name] + '/*/' + name + '.cubin')
                    self.stem = self.stem[:-len('.cubin')]
                metadata.update(kept)
                return 'module attributes {\\"ttg.num-warps\\" = 4 : i32}'
        raise RuntimeError('unknown source')
def make_backend(target):
    return Backend()
""",
}


def make(folder, kept, other=None):
    """Writes the package; the environment with which Python finds it, and it the folder of kept cubins.
    other: by entry, the folder whose cubin is given where num_warps is not the kept one's."""
    for name, text in FAKE_TRITON.items():
        path = os.path.join(folder, "triton", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return {"PYTHONPATH": folder, "KEPT": kept, "OTHER": json.dumps(other or {}), "PYTHONDONTWRITEBYTECODE": "1"}
