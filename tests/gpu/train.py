# SPDX-License-Identifier: MIT
# Real programs to capture: hand-written Triton kernels, and a small transformer under torch.compile.
import os, sys, time, torch, triton, triton.language as tl
torch.manual_seed(0)
dev='cuda'
mode=sys.argv[1] if len(sys.argv)>1 else 'all'
print('torch',torch.__version__,'triton',triton.__version__)
@triton.autotune(configs=[triton.Config({'BM':bm,'BN':bn,'BK':bk},num_warps=w,num_stages=s) for (bm,bn,bk,w,s) in [(64,64,32,4,2),(128,64,32,4,3),(128,128,64,8,3),(64,128,64,4,4)]],key=['M','N','K'])
@triton.jit
def matmul_k(A,B,C,M,N,K,sam,sak,sbk,sbn,scm,scn,BM:tl.constexpr,BN:tl.constexpr,BK:tl.constexpr):
    pm=tl.program_id(0);pn=tl.program_id(1)
    rm=pm*BM+tl.arange(0,BM);rn=pn*BN+tl.arange(0,BN);rk=tl.arange(0,BK)
    a=A+rm[:,None]*sam+rk[None,:]*sak;b=B+rk[:,None]*sbk+rn[None,:]*sbn
    acc=tl.zeros((BM,BN),dtype=tl.float32)
    for k in range(0,tl.cdiv(K,BK)):
        av=tl.load(a,mask=(rm[:,None]<M)&(rk[None,:]<K-k*BK),other=0.);bv=tl.load(b,mask=(rk[:,None]<K-k*BK)&(rn[None,:]<N),other=0.)
        acc+=tl.dot(av,bv);a+=BK*sak;b+=BK*sbk
    tl.store(C+rm[:,None]*scm+rn[None,:]*scn,acc.to(C.dtype.element_ty),mask=(rm[:,None]<M)&(rn[None,:]<N))
@triton.jit
def softmax_k(X,Y,n,BLOCK:tl.constexpr):
    r=tl.program_id(0);c=tl.arange(0,BLOCK);m=c<n
    x=tl.load(X+r*n+c,mask=m,other=-float('inf')).to(tl.float32)
    x=x-tl.max(x,0);e=tl.exp(x);tl.store(Y+r*n+c,(e/tl.sum(e,0)).to(Y.dtype.element_ty),mask=m)
@triton.jit
def layernorm_k(X,W,B,Y,n,eps,BLOCK:tl.constexpr):
    r=tl.program_id(0);c=tl.arange(0,BLOCK);m=c<n
    x=tl.load(X+r*n+c,mask=m,other=0.).to(tl.float32)
    mu=tl.sum(x,0)/n;d=tl.where(m,x-mu,0.);v=tl.sum(d*d,0)/n
    y=d*tl.rsqrt(v+eps)*tl.load(W+c,mask=m,other=0.).to(tl.float32)+tl.load(B+c,mask=m,other=0.).to(tl.float32)
    tl.store(Y+r*n+c,y.to(Y.dtype.element_ty),mask=m)
@triton.jit
def atomic_k(X,S,n,BLOCK:tl.constexpr):
    o=tl.program_id(0)*BLOCK+tl.arange(0,BLOCK);x=tl.load(X+o,mask=o<n,other=0.)
    tl.atomic_add(S,tl.sum(x,0))
@triton.jit
def tma_k(d_in,d_out,BM:tl.constexpr,BN:tl.constexpr):
    m=tl.program_id(0)*BM;n=tl.program_id(1)*BN
    d_out.store([m,n],(d_in.load([m,n])*2.0).to(tl.float16))
def user():
    for (M,N,K,dt) in [(512,512,512,torch.float16),(500,300,200,torch.float32),(256,1024,512,torch.bfloat16)]:
        a=torch.randn(M,K,device=dev,dtype=dt);b=torch.randn(K,N,device=dev,dtype=dt);c=torch.empty(M,N,device=dev,dtype=dt)
        g=lambda m:(triton.cdiv(M,m['BM']),triton.cdiv(N,m['BN']))
        matmul_k[g](a,b,c,M,N,K,a.stride(0),a.stride(1),b.stride(0),b.stride(1),c.stride(0),c.stride(1))
        print('matmul',dt,(c.float()-(a.float()@b.float())).abs().max().item(), 'best',matmul_k.best_config,file=sys.stderr)
    x=torch.randn(128,1000,device=dev,dtype=torch.bfloat16);y=torch.empty_like(x);softmax_k[(128,)](x,y,1000,BLOCK=1024)
    w=torch.randn(1000,device=dev);bb=torch.randn(1000,device=dev);layernorm_k[(128,)](x,w,bb,y,1000,1e-5,BLOCK=1024)
    s=torch.zeros(1,device=dev);xx=torch.randn(1<<20,device=dev);atomic_k[(1024,)](xx,s,1<<20,BLOCK=1024)
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
        i=torch.randn(256,256,device=dev,dtype=torch.float16);o=torch.empty_like(i)
        tma_k[(4,4)](TensorDescriptor.from_tensor(i,[64,64]),TensorDescriptor.from_tensor(o,[64,64]),BM=64,BN=64)
        print('tma ok',(o-i*2).abs().max().item())
    except Exception as e: print('tma failed',repr(e)[:300])
def compiled(cmode=None):
    import torch.nn as nn
    class Blk(nn.Module):
        def __init__(s,d=256,h=4):
            super().__init__();s.ln1=nn.LayerNorm(d);s.ln2=nn.LayerNorm(d);s.qkv=nn.Linear(d,3*d);s.o=nn.Linear(d,d);s.f1=nn.Linear(d,4*d);s.f2=nn.Linear(4*d,d);s.h=h;s.dp=nn.Dropout(0.1)
        def forward(s,x):
            B,T,D=x.shape;q,k,v=s.qkv(s.ln1(x)).view(B,T,3,s.h,D//s.h).permute(2,0,3,1,4)
            a=torch.nn.functional.scaled_dot_product_attention(q,k,v,is_causal=True).transpose(1,2).reshape(B,T,D)
            x=x+s.dp(s.o(a));return x+s.f2(torch.nn.functional.gelu(s.f1(s.ln2(x))))
    class M(nn.Module):
        def __init__(s):
            super().__init__();s.e=nn.Embedding(1000,256);s.b=nn.ModuleList([Blk() for _ in range(2)]);s.h=nn.Linear(256,1000)
        def forward(s,i,t):
            x=s.e(i)
            for b in s.b:x=b(x)
            return torch.nn.functional.cross_entropy(s.h(x).float().view(-1,1000),t.view(-1))
    ddp='RANK' in os.environ
    if ddp:
        n=torch.cuda.device_count();r=int(os.environ['LOCAL_RANK'])%n;torch.cuda.set_device(r)
        torch.distributed.init_process_group('nccl' if n>=int(os.environ['LOCAL_WORLD_SIZE']) else 'gloo')  # NCCL wants a GPU a rank
    m=M().to(dev)
    if ddp:m=nn.parallel.DistributedDataParallel(m,device_ids=[r])
    o=torch.optim.AdamW(m.parameters(),lr=1e-3,fused=False)
    f=torch.compile(m,mode=cmode)
    i=torch.randint(0,1000,(8,128),device=dev);t=torch.randint(0,1000,(8,128),device=dev)
    step=torch.compile(lambda:o.step())
    for k in range(6):
        t0=time.time();o.zero_grad(set_to_none=True)
        with torch.autocast('cuda',dtype=torch.bfloat16):l=f(i,t)
        l.backward();step();torch.cuda.synchronize();print('step',k,l.item());print('seconds',round(time.time()-t0,3),file=sys.stderr)
# modes: user | compile | more-configs (Inductor tries more configs per kernel) | graphs | max-autotune (GEMM templates too: minutes of compilation)
# | all (user and compile); torchrun starts the compiled ones on several GPUs
if mode in('all','user'):user()
if mode in('all','compile'):compiled()
elif mode=='more-configs':
    import torch._inductor.config as ic;ic.max_autotune_pointwise=True;compiled()
elif mode=='graphs':compiled('reduce-overhead')
elif mode=='max-autotune':compiled('max-autotune-no-cudagraphs')
elif mode!='user':sys.exit('unknown mode '+mode)
